// What people type: the examples in the help of each command.

/** By the names of a command and its subcommand: command lines without `baton`, each with what it does. */
export const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, does: string])[]>> = {
  exec: [
    ['exec "Mend the failing test."', 'one turn in this directory'],
    ['exec --resume last "And the docs?"', 'continue the newest session of Baton'],
    ['exec --model rehearsal/last:codex', 'play a recorded session, without a model'],
  ],
  serve: [['serve --model openai/gpt-5.2 --sandbox read-only', 'a thread for a client on standard input']],
  inspect: [
    ['inspect last', 'the newest session of any agent'],
    ['inspect last:claude --precise', 'the newest one of Claude Code, counted exactly'],
    ['inspect 019dc0 --json', 'the session whose id begins so'],
  ],
  compact: [
    ['compact last --preview', 'what would be kept, summarised and dropped'],
    ['compact last:codex --install', 'compact it where Codex finds it'],
    ['compact session.jsonl --target-tokens 20k --out small.jsonl', 'a file, down to 20,000 tokens'],
  ],
  undo: [
    ['undo last:codex --install', 'the newest compaction'],
    ['undo --turn last --preview', 'what an undo of the newest turn of Baton would revert'],
  ],
  sessions: [
    ['sessions --here --since 7d', 'those of this directory, of the last week'],
    ['sessions --sort cost -n 10', 'the ten dearest'],
  ],
  eval: [['eval ~/.codex/sessions --sizes 4k,8k', 'how much survives in all sessions of Codex']],
  replay: [
    ['replay last --turns', 'each decision of each policy, with its evidence'],
    ['replay ~/.claude/projects --html report.html', 'all sessions of Claude Code, with charts'],
  ],
  config: [
    ['config', 'the configuration in force'],
    ['-c model_context_window=60000 config show', 'the same with one key changed'],
  ],
  'config show': [['config show --origin', 'with the place that each value comes from']],
  'config schema': [['config schema > baton.schema.json', 'for an editor']],
  'config check': [['config check ~/.baton/config.toml', 'one file']],
  'config init': [['config init', 'a starter file in ~/.baton']],
  prompts: [['prompts', 'write what is missing, and list the prompts']],
  'prompts list': [['prompts list --json', 'for a program']],
  'prompts show': [['prompts show heads-up', 'the text in force']],
  'prompts diff': [['prompts diff', 'all that was changed']],
  'prompts reset': [['prompts reset heads-up', 'back to the shipped text']],
  doctor: [['doctor', 'what works here']],
  demo: [['demo', 'in about ten seconds, without a model']],
  completion: [
    ['completion bash > ~/.baton-completion', 'then `source` that file in ~/.bashrc'],
    ['completion fish | source', 'in ~/.config/fish/config.fish'],
  ],
  version: [['version', 'the same as --version']],
};
