// `npm start`
import type { Config } from '../config/schema.ts';
import type { CommandIo } from './io.ts';
export async function playDemo(_io: CommandIo, _config: Config): Promise<void> {}
