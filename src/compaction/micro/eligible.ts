// Which tool results may be cleared: those that running the tool again produces again.

import { READ_TOOLS, SHELL_TOOLS } from '../../trail/calls/calls.ts';

/** The kinds of tools whose old results micro-compaction clears. @source seed 001 §2. */
export type EligibleTool =
  'shell' | 'read' | 'grep' | 'glob' | 'list_dir' | 'web_fetch' | 'web_search' | 'task_output';

/**
 * Tool names of the field by kind, lower case. A name that is not here is never cleared: its result may carry state
 * (todo, plan, ask-user) or be impossible to repeat.
 * @source seed 001 §2; the tool names in session files of the formats that Baton reads.
 */
const TOOL_NAMES: Readonly<Record<EligibleTool, readonly string[]>> = {
  shell: [
    ...SHELL_TOOLS,
    'write_stdin',
    'unified_exec',
    'bashoutput',
    'read_bash',
    'powershell',
    'read_powershell',
    'execute_command',
  ],
  read: [...READ_TOOLS, 'view_image', 'cat', 'read_many_files', 'readmcpresourcetool', 'read_mcp_resource'],
  grep: [
    'grep',
    'grep_files',
    'grep_search',
    'search',
    'search_files',
    'search_dir',
    'search_file',
    'search_file_content',
    'codebase_search',
    'ripgrep',
  ],
  glob: ['glob', 'find_files', 'find_file', 'file_search', 'find'],
  list_dir: [
    'list_dir',
    'list',
    'ls',
    'list_files',
    'list_directory',
    'listmcpresourcestool',
    'list_mcp_resources',
  ],
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
