// `baton-agent/agent`: Baton's own agent, its models, and rehearsals of recorded sessions.

export { openThread } from '../thread/driver.ts';
export type { Thread, TurnOutcome } from '../thread/driver.ts';
export type { Playback, ThreadRequest, ThreadWorld } from '../thread/terms.ts';

export { openMeantModel, openNamedModel } from '../providers/open.ts';
export type { ModelSources, OpenedModel } from '../providers/open.ts';
export type { Model } from '../ports.ts';
export type { ModelEvent, ModelRequest } from '../protocol/model.ts';

export { WatchedSession } from '../session/watched/driver.ts';
export type { WatchedWorld } from '../session/watched/driver.ts';
export type { SessionWorld } from '../session/driver.ts';
export type { SessionLog, ToolRunner } from '../session/terms.ts';

export { pauseFor, Rehearsal } from '../rehearsal/driver.ts';
export type { RehearsalSettings, RehearsalWorld, RehearsedTurn } from '../rehearsal/driver.ts';

export { parseEvent, parseOp } from '../protocol/parse.ts';
export type { SessionEvent } from '../protocol/event.ts';
export type { Op } from '../protocol/op.ts';
