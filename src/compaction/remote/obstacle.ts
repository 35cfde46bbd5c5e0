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
  why: 'no model is chosen, so there is no provider to ask',
  cure: 'Choose one with --model PROVIDER/MODEL.',
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
  return `The provider did not compact, because ${why}.`;
}

interface PossibleObstacle {
  readonly isMet: (known: RemoteCircumstances) => boolean;
  readonly obstacle: RemoteObstacle;
}

const OBSTACLES: readonly PossibleObstacle[] = [
  {
    isMet: ({ canCompact }) => !canCompact,
    obstacle: {
      why: "the model's provider has no compaction of its own",
      cure: 'Choose another model, or set model_providers.NAME.remote_compaction to how it compacts.',
    },
  },
  {
    isMet: ({ canHoldState }) => !canHoldState,
    obstacle: {
      why: "the output format cannot hold a provider's compaction state",
      cure: 'Write --format codex or --format responses.',
    },
  },
  {
    isMet: ({ hasInstructions }) => hasInstructions,
    obstacle: {
      why: 'a provider ignores instructions for its compaction',
      cure: 'Omit --instructions, or choose --strategy full.',
    },
  },
  {
    isMet: ({ hasOwnPrompt }) => hasOwnPrompt,
    obstacle: {
      why: 'a provider does not read compact_prompt or compact.md, and you have customised one of them',
      cure: "Unset compact_prompt for this run with -c compact_prompt='', reset the file with `baton prompts reset compact.md`, or choose --strategy full.",
    },
  },
  {
    isMet: ({ hasSummarizationModel }) => hasSummarizationModel,
    obstacle: {
      why: 'compact.summarization_model already chooses the model that writes summaries',
      cure: 'Unset compact.summarization_model, or choose --strategy full.',
    },
  },
];
