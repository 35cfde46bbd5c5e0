import type { ReplayRun } from './replay.ts';
export function renderReport(_run: ReplayRun, _home: string): string {
  return '';
}
