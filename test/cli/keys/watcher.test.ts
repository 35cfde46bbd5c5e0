import { holdCases } from './hold.ts';
import { WATCHER_CASES } from './watcher-cases.ts';

holdCases('keys of [rawr_auto_compaction]', WATCHER_CASES);
