// `baton-agent/agent`: Baton's own agent, its models, and rehearsals of recorded sessions.

export { openThread } from '../thread/thread.io.ts';
export type { Thread, TurnOutcome } from '../thread/terms.ts';
export type { Playback, ThreadRequest, ThreadWorld } from '../thread/terms.ts';

export { openMeantModel, openNamedModel } from '../providers/open.ts';
export type { ModelSources, OpenedModel } from '../providers/open.ts';
export type { Model } from '../ports.ts';
export type { ModelEvent, ModelRequest } from '../protocol/model.ts';

export { WatchedSession } from '../session/watched/watched-session.io.ts';
export type { WatchedWorld } from '../session/watched/watched-session.io.ts';
export type { SessionWorld } from '../session/session.io.ts';
export type { SessionLog, ToolRunner } from '../session/terms.ts';

export { pauseFor, Rehearsal } from '../lab/rehearsal/rehearsal.io.ts';
export type { RehearsalSettings, RehearsalWorld, RehearsedTurn } from '../lab/rehearsal/rehearsal.io.ts';

export { parseEvent, parseOp } from '../protocol/wire/parse.ts';
export type { SessionEvent } from '../protocol/wire/event.ts';
export type { Op } from '../protocol/wire/op.ts';
