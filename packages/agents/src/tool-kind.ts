import type { ToolKind } from '@concerto/protocol';

const kinds: Readonly<Record<ToolKind, readonly string[]>> = {
  execute: ['bash', 'shell', 'exec_command', 'run_shell_command', 'bashoutput', 'killshell', 'monitor'],
  edit: ['edit', 'multiedit', 'write', 'notebookedit', 'apply_patch', 'replace', 'write_file', 'patch'],
  read: ['read', 'read_file', 'read_many_files', 'notebookread', 'view_image', 'imageview'],
  search: ['glob', 'grep', 'ls', 'list', 'list_directory', 'search_file_content', 'toolsearch'],
  fetch: ['webfetch', 'web_fetch', 'websearch', 'web_search', 'google_web_search', 'codesearch'],
  think: ['todowrite', 'taskcreate', 'taskupdate', 'tasklist', 'update_plan'],
  switch_mode: ['exitplanmode', 'enterplanmode'],
  delete: [],
  move: [],
  other: [],
};

const byName: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries(kinds).flatMap(([kind, names]) => names.map((name) => [name, toolKind(kind)] as const)),
);

/** What a tool does, by its own name; a tool of a server may do anything. */
export function kindOfTool(name: string): ToolKind {
  return byName.get(name.toLowerCase()) ?? 'other';
}

/** As an agent says it; what is not known is `other`. */
export function toolKind(kind: string | null | undefined): ToolKind {
  return isToolKind(kind) ? kind : 'other';
}

function isToolKind(kind: string | null | undefined): kind is ToolKind {
  return kind != null && Object.hasOwn(kinds, kind);
}
