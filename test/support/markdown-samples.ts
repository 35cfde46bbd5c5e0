// Markdown as models write it, and as they should not.

const FENCE = '```';

/** Texts with all that Markdown has, finished and not. */
export const SAMPLES: readonly string[] = [
  'One paragraph.\nIts second line.\n\nAnother one with **bold**, *italic* and `code`.\n',
  '# Plan\n\nFirst:\n\n1. Read `a.ts`.\n2. Change it:\n   - the type\n   - the test\n\n   ' +
    `${FENCE}ts\n   const a = \`x\n   \${b}\`; // c\n\n   ${FENCE}\n\n10. Run it.\n\n## Then\n\nDone.\n`,
  `Code:\n${FENCE}python\ndef f(a,\n      b):\n    """Text\n    over lines."""\n\n    return "x"  # y\n${FENCE}\nafter\n`,
  `An open fence:\n\n${FENCE}js\n/* a comment\nthat never ends\n\n- not an item\n`,
  'Title\n=====\n\nSmaller\n---\ntext\n- item\n---\n',
  '| Name | Size |\n|---|--:|\n| one | 1 |\n| two words | 22 |\n\nafter\n| a | b |\n|---|---|\n| 1 | 2 |\ntext in the table\n',
  '> quote\n> - item\n>   more\nlazy\n>\n> > deeper\n\n> another\n',
  'See [one] and [two][ref].\n\n[one]: https://example.org/1\n[ref]: <https://example.org/2> "t"\n',
  '- [ ] a\n- [x] b\n\n  loose\n- c\n\n* other\n+ third\n1) fourth\n2) fifth\n3. sixth\n',
  '<details>\n<summary>More</summary>\n\n**inside**\n\n</details>\n\n<!-- a\n\ncomment -->\nafter <b>x</b>\n',
  '    indented\n\n\n    code\nparagraph\n    lazy\n\n-\n\n-\n  late\n-\n',
  `- item\n  ${FENCE}\n  code\n out of the item\n\n${FENCE}${FENCE}\n${FENCE}\n${FENCE}${FENCE}\n`,
  'hard  \nbreak\\\nbackslash\n***\n___\n* * *\n\\# no heading\n#no heading\n####### no heading\n',
  '日本語のテキスト、とても長い文章です。\n\n- 한국어\n- 👩‍👩‍👧‍👦 emoji\n',
  `${FENCE}html\n<script>\nconst a = 1;\n</script>\n<style>\na { color: red }\n${FENCE}\n`,
  '1. a\n\n   b\n\n\n2. c\n- d\n\n\ne\n',
];
