// The programming languages whose code is highlighted, by the names that people write after a fence and by extensions of files.
// Each grammar is evaluated when it is first used: all together take 40 ms.

import core from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const GRAMMARS = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};

/** A language with a grammar. */
export type Language = keyof typeof GRAMMARS;

/** Other names and extensions, in lower case. */
const ALIASES: Readonly<Record<Language, string>> = {
  bash: 'sh shell zsh console shellsession shell-session bashrc zshrc env',
  c: 'h',
  cpp: 'c++ cc cxx hpp hh hxx',
  csharp: 'cs c#',
  css: '',
  diff: 'patch',
  dockerfile: 'docker containerfile',
  go: 'golang',
  ini: 'toml cfg conf properties editorconfig gitconfig',
  java: '',
  javascript: 'js jsx mjs cjs node',
  json: 'jsonc json5 jsonl ndjson',
  kotlin: 'kt kts',
  lua: '',
  makefile: 'make mk mak gnumakefile',
  markdown: 'md mdx mkd',
  php: '',
  python: 'py python3 py3 pyi pyw',
  ruby: 'rb rake gemspec gemfile rakefile',
  rust: 'rs',
  sql: 'postgresql mysql sqlite psql',
  swift: '',
  typescript: 'ts tsx mts cts',
  xml: 'html xhtml htm svg vue svelte plist xsl xsd',
  yaml: 'yml',
};

/** What grammars use for parts in another language. */
const PARTS: Partial<Record<Language, readonly Language[]>> = {
  xml: ['css', 'javascript'],
  markdown: ['xml'],
  dockerfile: ['bash'],
  php: ['xml'],
  javascript: ['xml', 'css'],
  typescript: ['xml', 'css'],
};

const NAMES: ReadonlyMap<string, Language> = new Map(
  (Object.keys(ALIASES) as Language[]).flatMap((language) =>
    [language, ...ALIASES[language].split(' ')].map((name): [string, Language] => [name, language]),
  ),
);

/**
 * The language that a name means: `ts`, `TypeScript`, `c++`, `{.python}`; options after it do not count.
 * @returns undefined if it has no grammar
 */
export function languageNamed(name: string): Language | undefined {
  const word = /^[\s{.]*([^\s,:;{}]*)/.exec(name)?.[1] ?? '';
  return word === '' ? undefined : NAMES.get(word.toLowerCase());
}

/** The language of a file, by its extension, or by its name if it has none: `Makefile`, `Dockerfile.test`. */
export function languageOfPath(path: string): Language | undefined {
  const file = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  const parts = file
    .toLowerCase()
    .split('.')
    .filter((part) => part !== '');
  return NAMES.get(parts.at(-1) ?? '') ?? NAMES.get(parts[0] ?? '');
}

/** A part of code with the name that a grammar gives it; without one it is nothing in particular. */
interface ScopedText {
  readonly text: string;
  readonly scope: string | undefined;
}

/** Collects what the highlighter finds as a flat list, instead of HTML. */
class FlatEmitter {
  readonly parts: ScopedText[] = [];
  readonly #scopes: string[] = [];

  addText(text: string): void {
    if (text !== '') this.parts.push({ text, scope: this.#scopes.at(-1) });
  }

  startScope(scope: string): void {
    this.#scopes.push(scope);
  }

  endScope(): void {
    this.#scopes.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage({ parts }: FlatEmitter): void {
    const outer = this.#scopes.at(-1);
    for (const { text, scope } of parts) this.parts.push({ text, scope: scope ?? outer });
  }

  finalize(): void {
    this.#scopes.length = 0;
  }

  toHTML(): string {
    return '';
  }
}

/** A place in the highlighter's state: what is open, innermost first. */
export type OpenModes = readonly unknown[];

/** What the highlighter found in some code. */
export interface Scoped {
  readonly parts: readonly ScopedText[];
  /** What is open at its end: comments, strings, lists of parameters. Comparable by identity. */
  readonly open: OpenModes;
}

let highlighter: ReturnType<typeof core.newInstance> | undefined;

function highlighterWith(language: Language): ReturnType<typeof core.newInstance> {
  if (highlighter === undefined) {
    highlighter = core.newInstance();
    highlighter.configure({ __emitter: FlatEmitter as never });
  }
  for (const name of [language, ...(PARTS[language] ?? [])]) {
    if (highlighter.getLanguage(name) === undefined) highlighter.registerLanguage(name, GRAMMARS[name]);
  }
  return highlighter;
}

/** Finds the parts of some code. @returns undefined if the grammar fails, or loses text */
export function scopedCode(code: string, language: Language): Scoped | undefined {
  const result = highlighterWith(language).highlight(code, { language, ignoreIllegals: true });
  const { parts } = result._emitter as unknown as FlatEmitter;
  if (result.errorRaised !== undefined || parts.map(({ text }) => text).join('') !== code) return undefined;
  const open: unknown[] = [];
  let mode = result._top as { readonly parent?: object } | undefined;
  while (mode?.parent !== undefined) {
    open.push(Object.getPrototypeOf(mode));
    mode = mode.parent as typeof mode;
  }
  return { parts, open };
}
