// What keeps a provider from compacting a history itself.

/** An obstacle, in words for people. */
export interface RemoteObstacle {
  /** A clause to stand after "since", without a full stop. */
  readonly why: string;
  readonly cure: string;
}

/** What is known when a compaction is asked for. */
export interface RemoteCircumstances {
  /** Whether there is a model to ask. */
  readonly hasModel: boolean;
  /** Whether its provider compacts: `Model.compactRemote`. */
  readonly canCompact: boolean;
  /** The user asks something of this summary. */
  readonly hasInstructions: boolean;
  /** The user has a prompt for summaries: `compact_prompt`, or a changed `compact.md`. */
  readonly hasOwnPrompt: boolean;
  /** `compact.summarization_model`, or its provider, is set. */
  readonly hasSummarizationModel: boolean;
  /** Whether what is written can hold the state of a provider. */
  readonly canHoldState: boolean;
}

/** Nobody is there who could compact. */
export const NO_MODEL: RemoteObstacle = {
  why: 'no model is named whose provider could be asked',
  cure: 'Name one with --model PROVIDER/MODEL.',
};

/**
 * The first thing that a provider's own compaction would ignore or could not do; undefined where nothing is in its way.
 * @source spec 2-engine §4.3
 */
export function findRemoteObstacle(known: RemoteCircumstances): RemoteObstacle | undefined {
  if (!known.hasModel) return NO_MODEL;
  return OBSTACLES.find(({ isMet }) => isMet(known))?.obstacle;
}

/** What a receipt says of a compaction that the provider was preferred for, and did not carry out. */
export function localNote({ why }: RemoteObstacle): string {
  return `The provider did not compact, since ${why}.`;
}

interface PossibleObstacle {
  readonly isMet: (known: RemoteCircumstances) => boolean;
  readonly obstacle: RemoteObstacle;
}

const OBSTACLES: readonly PossibleObstacle[] = [
  {
    isMet: ({ canCompact }) => !canCompact,
    obstacle: {
      why: 'the provider of the model has no compaction of its own',
      cure: 'Choose another model, or say with model_providers.NAME.remote_compaction how it compacts.',
    },
  },
  {
    isMet: ({ canHoldState }) => !canHoldState,
    obstacle: {
      why: 'the format that is written cannot hold the state of a provider',
      cure: 'Write --format codex or --format responses.',
    },
  },
  {
    isMet: ({ hasInstructions }) => hasInstructions,
    obstacle: {
      why: 'a provider follows no instructions for its compaction',
      cure: 'Leave --instructions out, or choose --strategy full.',
    },
  },
  {
    isMet: ({ hasOwnPrompt }) => hasOwnPrompt,
    obstacle: {
      why: 'a provider reads no compact_prompt and no compact.md, and yours is not the shipped one',
      cure: "Unset compact_prompt for this run with -c compact_prompt='', reset the file with `baton prompts reset compact.md`, or choose --strategy full.",
    },
  },
  {
    isMet: ({ hasSummarizationModel }) => hasSummarizationModel,
    obstacle: {
      why: 'compact.summarization_model names who writes summaries',
      cure: 'Unset compact.summarization_model, or choose --strategy full.',
    },
  },
];
