// The examples in the help of each command.

/** Keyed by the names of a command and its subcommand, empty for the program: command lines without `baton`, each with its effect. */
export const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, does: string])[]>> = {
  '': [
    ['demo', 'see what Baton does, in about ten seconds'],
    ['sessions --here', 'list the sessions of this directory'],
    ['inspect last', 'show what fills the newest one'],
    ['compact last --preview', 'show what a compaction would lose'],
  ],
  chat: [
    ['chat', 'open the terminal agent; `baton` alone does the same'],
    ['chat --resume last', 'resume the newest Baton session'],
    ['chat "Make the failing test pass."', 'open it with a first message'],
  ],
  exec: [
    ['exec "Make the failing test pass."', 'run one turn in this directory'],
    ['exec --resume last "And the docs?"', 'resume the newest Baton session'],
    ['exec --model rehearsal/last:codex', 'play a recorded session, without a model'],
  ],
  serve: [['serve --model openai/gpt-5.2 --sandbox read-only', 'run a thread for a client']],
  inspect: [
    ['inspect last', 'show the newest session of any agent'],
    ['inspect last:claude --precise', 'show the newest one of Claude Code, counted exactly'],
    ['inspect 019dc0 --json', 'show the session whose id begins with this'],
  ],
  compact: [
    ['compact last --preview', 'show what would be kept, summarised and dropped'],
    ['compact last:codex --install', 'compact it where Codex finds it'],
    ['compact session.jsonl --target-tokens 20k --out small.jsonl', 'compact a file to 20,000 tokens'],
  ],
  undo: [
    ['undo last:codex --install', 'undo the newest compaction of Codex'],
    ['undo --turn last --preview', 'show what undoing the newest Baton turn would revert'],
  ],
  sessions: [
    ['sessions --here --since 7d', 'list those of this directory and the last week'],
    ['sessions --sort cost -n 10', 'list the ten most expensive'],
  ],
  eval: [['eval ~/.codex/sessions --sizes 4k,8k', 'measure how much survives in all sessions of Codex']],
  replay: [
    ['replay last --turns', 'list each decision of each policy, with its evidence'],
    ['replay ~/.claude/projects --html report.html', 'replay all sessions of Claude Code, with charts'],
  ],
  config: [
    ['config', 'print the effective configuration'],
    ['-c model_context_window=60000 config show', 'print it with one key changed'],
  ],
  'config show': [['config show --origin', 'also say where each value comes from']],
  'config schema': [['config schema > baton.schema.json', 'write the schema for an editor']],
  'config check': [['config check ~/.baton/config.toml', 'check one file']],
  'config init': [['config init', 'write a starter file to ~/.baton']],
  prompts: [['prompts', 'list the prompts']],
  'prompts list': [['prompts list --json', 'list them for a program']],
  'prompts show': [['prompts show heads-up', 'print the effective text']],
  'prompts diff': [['prompts diff', 'show every change']],
  'prompts reset': [['prompts reset heads-up', 'restore the shipped text']],
  doctor: [['doctor', 'check this machine']],
  demo: [['demo', 'play it in about ten seconds, without a model']],
  completion: [
    ['completion bash > ~/.baton-completion', 'then `source` that file in ~/.bashrc'],
    ['completion fish | source', 'in ~/.config/fish/config.fish'],
  ],
  version: [['version', 'print the same as --version']],
};
