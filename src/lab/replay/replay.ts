// Plays one session under several policies at once, in one pass over its records.

import type { LogRecord } from '../../protocol/record.ts';
import type { Signal } from '../../protocol/signal.ts';
import { TrailCollector } from '../../trail/collect.ts';
import type { Trail } from '../../trail/trail.ts';
import { SignalDetector } from '../../watcher/signals/signals.ts';
import type { SignalSettings } from '../../watcher/signals/signals.ts';
import { DEFAULT_SIGNAL_SETTINGS } from '../../watcher/signals/signals.ts';
import type { SessionFacts } from './facts.ts';
import type { Player, PlayerWorld } from './limit.ts';
import type { GaugeSample } from './context.ts';
import type { SessionReplay } from './outcome.ts';
import type { Play } from './play.ts';
import type { RecallMeter } from './recall.ts';
import { Recording } from './recording.ts';
import type { RecordingSettings } from './recording.ts';

/** A policy to play. */
export interface PolicyChoice {
  /** Unique among the compared policies. */
  readonly name: string;
  readonly makePlayer: (world: PlayerWorld) => Player;
  /** What it counts as a signal; default settings unless given. */
  readonly signals?: SignalSettings;
}

/** What to play and measure. */
export interface ReplaySettings {
  readonly recording: RecordingSettings;
  readonly policies: readonly PolicyChoice[];
  /** Measures the recall at each compaction; absent: nothing is measured. */
  readonly recall?: RecallMeter;
}

/** Players that share the same signals. */
interface Audience {
  readonly detector: SignalDetector;
  readonly players: Player[];
}

/** Takes the records of one session in order and plays all policies over them. */
export class Replay {
  readonly #recording: Recording;
  readonly #audiences: readonly Audience[];
  readonly #players: readonly Player[];
  readonly #names: readonly string[];
  readonly #facts: SessionFacts;
  readonly #recall: RecallMeter | undefined;
  readonly #collector = new TrailCollector();
  readonly #boundaries: { signal: Signal; request: number }[] = [];
  readonly #recorded: GaugeSample[] = [];
  #trail: Trail | undefined;
  #hasItems = false;
  #request = 0;
  #turn = 0;
  #items = 0;
  #window = 0;
  #model: string | undefined;
  #startedAtMs: number | undefined;
  #endedAtMs: number | undefined;

  constructor(facts: SessionFacts, { recording, policies, recall }: ReplaySettings) {
    this.#facts = facts;
    this.#recall = recall;
    this.#recording = new Recording(facts, recording, recall);
    this.#names = policies.map(({ name }) => name);
    const world: PlayerWorld = {
      sizes: this.#recording.sizes,
      estimate: recording.estimate,
      usedWith: (tokens) => this.#recording.usedWith(tokens),
      trail: () => (this.#trail ??= this.#collector.trail()),
      recall: ({ step }, items) => recall?.measure(step, items),
    };
    // Displays the default boundaries, whatever signals the policies use.
    const byKey = new Map<string, Audience>([keyed(DEFAULT_SIGNAL_SETTINGS)]);
    this.#players = policies.map(({ makePlayer, signals = DEFAULT_SIGNAL_SETTINGS }) => {
      const [key, fresh] = keyed(signals);
      const audience = byKey.get(key) ?? fresh;
      byKey.set(key, audience);
      const player = makePlayer(world);
      audience.players.push(player);
      return player;
    });
    this.#audiences = [...byKey.values()];
  }

  add(record: LogRecord): void {
    if (record.at !== undefined) {
      const at = Date.parse(record.at);
      if (!Number.isNaN(at)) {
        this.#startedAtMs ??= at;
        this.#endedAtMs = at;
      }
    }
    this.#recall?.add(record);
    this.#announce((detector) => detector.add(record));
    this.#follow(record);
    this.#perform(this.#recording.add(record));
  }

  /** Reports the end of the session. */
  end(): void {
    this.#announce((detector) => detector.end());
    this.#perform(this.#recording.end());
  }

  result(): SessionReplay {
    return {
      model: this.#model,
      window: this.#window,
      turns: this.#turn,
      requests: this.#request,
      items: this.#items,
      startedAtMs: this.#startedAtMs,
      endedAtMs: this.#endedAtMs,
      usageFrom: this.#facts.reportsUsage ? 'reported' : 'estimated',
      recorded: this.#recorded,
      own: this.#recording.ownCompactions,
      boundaries: this.#boundaries,
      policies: this.#players.map((player, index) => ({
        ...player.outcome(),
        policy: this.#names[index] ?? '',
      })),
    };
  }

  #announce(read: (detector: SignalDetector) => readonly Signal[]): void {
    this.#audiences.forEach(({ detector, players }, index) => {
      const signals = read(detector);
      if (signals.length === 0) return;
      for (const player of players) player.play({ type: 'signals', signals });
      if (index === 0) {
        for (const signal of signals) this.#boundaries.push({ signal, request: this.#request });
      }
    });
  }

  /** The trail records what was done; the agent's own summaries are not evidence, except the one a file starts with. */
  #follow(record: LogRecord): void {
    if (record.type === 'item') this.#hasItems = true;
    else if (record.type === 'compacted' && this.#hasItems) return;
    this.#collector.add(record);
    this.#trail = undefined;
  }

  #perform(plays: readonly Play[]): void {
    for (const play of plays) {
      if (play.type !== 'signals') {
        const { request, turn, step, window, model, recorded } = play.moment;
        if (play.type === 'request') this.#recorded.push({ request, turn, used: recorded, window });
        this.#request = request;
        this.#turn = turn;
        this.#items = step;
        this.#window = Math.max(this.#window, window);
        this.#model = model ?? this.#model;
      }
      for (const player of this.#players) player.play(play);
    }
  }
}

function keyed(settings: SignalSettings): [key: string, audience: Audience] {
  return [JSON.stringify(settings), { detector: new SignalDetector(settings), players: [] }];
}
