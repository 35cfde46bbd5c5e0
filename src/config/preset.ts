// The settings of `rawr_auto_compaction.preset`, under the keys of the file. An explicitly set key overrides the preset.

/** @source seed 000 and its fork, rawr-behaviour §2.2; the table is in docs/decisions/watcher-config.md */
const SEED: Readonly<Record<string, string | number | boolean>> = {
  'rawr_auto_compaction.mode': 'suggest',
  'rawr_auto_compaction.turn_based_handoff': false,
  'rawr_auto_compaction.packet_author': 'watcher',
  'rawr_auto_compaction.combine_requests': false,
  'rawr_auto_compaction.scratch_write_enabled': false,
  'rawr_auto_compaction.packet_max_tail_chars': 1200,
  'rawr_auto_compaction.mid_turn': 'tiered',
  'rawr_auto_compaction.turn_complete_suffices_below': 0,
  'rawr_auto_compaction.policy.early.percent_remaining_lt': 85,
  'rawr_auto_compaction.policy.ready.percent_remaining_lt': 75,
  'rawr_auto_compaction.policy.asap.percent_remaining_lt': 65,
  'rawr_auto_compaction.policy.emergency.percent_remaining_lt': 15,
  'rawr_auto_compaction.policy.early.plan_boundaries_require_semantic_break': true,
  'rawr_auto_compaction.policy.ready.plan_boundaries_require_semantic_break': true,
  'rawr_auto_compaction.policy.asap.plan_boundaries_require_semantic_break': false,
};

/** Every preset by name. */
export const PRESETS = { seed: SEED } as const;
