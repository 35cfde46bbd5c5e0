// Which tool results may be cleared: those that can be had again by running the tool again.

/** The kinds of tools whose old results micro-compaction clears. @source seed 001 §2. */
export type EligibleTool =
  'shell' | 'read' | 'grep' | 'glob' | 'list_dir' | 'web_fetch' | 'web_search' | 'task_output';

/**
 * Tool names of the field by kind, lower case. A name that is not here is never cleared: its result may carry state
 * (todo, plan, ask-user) or be impossible to repeat.
 * @source seed 001 §2; the tool names in Codex and Claude Code session files.
 */
const TOOL_NAMES: Readonly<Record<EligibleTool, readonly string[]>> = {
  shell: [
    'shell',
    'local_shell',
    'exec_command',
    'write_stdin',
    'unified_exec',
    'exec',
    'container.exec',
    'bash',
    'bashoutput',
    'powershell',
    'run_terminal_cmd',
    'execute_bash',
    'run_shell_command',
    'execute_command',
  ],
  read: [
    'read',
    'read_file',
    'view',
    'view_file',
    'view_image',
    'cat',
    'open_file',
    'notebookread',
    'read_many_files',
    'readmcpresourcetool',
  ],
  grep: ['grep', 'grep_files', 'search', 'search_files', 'search_file_content', 'codebase_search', 'ripgrep'],
  glob: ['glob', 'find_files', 'file_search', 'find'],
  list_dir: ['list_dir', 'ls', 'list_files', 'list_directory'],
  web_fetch: ['web_fetch', 'webfetch', 'fetch'],
  web_search: ['web_search', 'websearch', 'google_web_search'],
  task_output: ['task_output', 'taskoutput', 'task', 'agent', 'agentoutputtool'],
};

const BY_NAME: ReadonlyMap<string, EligibleTool> = new Map(
  (Object.entries(TOOL_NAMES) as [EligibleTool, readonly string[]][]).flatMap(([kind, names]) =>
    names.map((name) => [name, kind] as const),
  ),
);

/** The kind of a tool whose results may be cleared, or undefined for every other tool. */
export function eligibleTool(name: string): EligibleTool | undefined {
  return BY_NAME.get(name) ?? BY_NAME.get(name.toLowerCase());
}
