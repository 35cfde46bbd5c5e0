// Where a thread works, and with what: tools and what the model is told of the place, or a recording that is played.

import type { ToolRunner } from '../session/terms.ts';
import type { Config } from '../config/schema.ts';
import type { HookSession } from '../protocol/hook.ts';
import type { Item } from '../protocol/item.ts';
import type { Rollout } from '../rollout/rollout.io.ts';
import { openToolbox } from '../tools/toolbox.io.ts';
import type { Toolbox } from '../tools/toolbox.io.ts';
import { environmentItem, hookItem, instructionsItem } from './context.ts';
import { loadInstructions } from './instructions.io.ts';
import { recordsOf } from './log.io.ts';
import { ThreadTools } from './tools.io.ts';
import type { RunnerTerms } from './tools.io.ts';
import type { ThreadSettings } from './settings.ts';
import type { Playback, ThreadRequest, ThreadWorld } from './terms.ts';

/** Tools that may still be at work when their turn has ended. */
export type EquippedTools = ToolRunner & Partial<Pick<ThreadTools, 'idle' | 'runLine'>>;

/** Where a thread works, and with what. */
export interface Project {
  /** Absolute, with links resolved. */
  readonly root: string;
  /** What commands and git see; undefined where a recording is played, so that nothing is executed, and no snapshot taken. */
  readonly env: Toolbox['env'] | undefined;
  readonly equip: (terms: Omit<RunnerTerms, 'toolbox'>) => EquippedTools;
  /** What the model is told before the user's first word, under the settings of the thread. */
  readonly context: (settings: ThreadSettings) => readonly Item[];
  /** Sentences for the user. */
  readonly warnings: readonly string[];
}

/** Where a thread is recorded, and where it works. */
interface PlaceLog {
  readonly rollout: Rollout;
  /** Absolute, with links resolved. */
  readonly root: string;
}

/** What hooks are told of a thread. */
export function hookSession(
  { model }: ThreadRequest,
  { rollout }: Pick<PlaceLog, 'rollout'>,
  cwd: string,
): HookSession {
  return { sessionId: rollout.threadId, transcriptPath: rollout.path, cwd, model: model.name };
}

/** Where a thread works that executes what its model asks for. @throws BatonError as `openToolbox`; of hooks */
export async function openPlace(request: ThreadRequest, world: ThreadWorld, log: PlaceLog): Promise<Project> {
  const { config, resume } = request;
  const { rollout, root } = log;
  const [toolbox, project] = await Promise.all([
    openToolbox(
      {
        directory: root,
        env: world.env,
        keyVariables: world.keyVariables,
        passedVariables: config.shellEnvironment.pass ?? [],
        platform: world.platform,
        ownPaths: [world.home, ...(world.configFile === undefined ? [] : [world.configFile])],
        log: () => recordsOf(world.home, rollout.path),
      },
      world.signal,
    ),
    loadInstructions(root),
  ]);
  const session = hookSession(request, log, toolbox.root);
  const source = resume === undefined ? 'startup' : 'resume';
  const notes = await world.hooks?.sessionStart({ session, source }, world.signal);
  const context: Project['context'] = ({ policy, sandbox, isPlanning }) =>
    [
      instructionsItem(project.root, project.files),
      environmentItem({
        cwd: toolbox.root,
        date: localDate(new Date(world.clock.now())),
        platform: world.platform,
        shell: toolbox.shell,
        policy,
        sandbox,
        isPlanning,
        canConfine: toolbox.confinement.type === 'bubblewrap',
      }),
      notes?.context === undefined ? undefined : hookItem(notes.context),
    ].filter((item) => item !== undefined);
  const warnings = [...unconfined(toolbox, config), ...project.warnings, ...(notes?.warnings ?? [])];
  const equip: Project['equip'] = (terms) => new ThreadTools({ ...terms, toolbox });
  return { root: toolbox.root, env: toolbox.env, equip, context, warnings };
}

/** Nothing is executed, asked of git or told of the directory: the recording was made elsewhere. */
export function placeOfPlayback({ tools }: Playback, root: string): Project {
  return { root, env: undefined, equip: () => tools, context: () => [], warnings: [] };
}

function unconfined({ confinement }: Toolbox, { sandboxMode, approvalPolicy }: Config): readonly string[] {
  if (confinement.type !== 'none' || sandboxMode === 'danger_full_access') return [];
  const what = approvalPolicy === 'never' ? 'all of them are turned down' : 'each of them has to be approved';
  return [`${confinement.why} Under sandbox_mode ${sandboxMode} ${what}.`];
}

/** `YYYY-MM-DD` where the user is. */
function localDate(now: Date): string {
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}
