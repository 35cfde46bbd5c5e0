// The same stream in Ink: 400 messages as `Static`, finished paragraphs follow them, the last one and a line to type in change. Ink has
// no Markdown: the text is shown as it is, which favours it.

import { Box, render, Static, Text, useInput } from 'ink';
import { createElement, useState } from 'react';
import { HISTORY, readStream } from './peer.mjs';

function Chat() {
  const [finished, setFinished] = useState(HISTORY);
  const [growing, setGrowing] = useState('');
  const [draft, setDraft] = useState('');
  useInput((input, key) => {
    if (!key.return) return setDraft((before) => before + input);
    setDraft('');
    let text = '';
    void readStream((delta) => {
      const lines = (text + delta).split('\n');
      text = lines.pop() ?? '';
      if (lines.length > 0) setFinished((before) => [...before, ...lines]);
      setGrowing(text);
    });
  });
  return createElement(
    Box,
    { flexDirection: 'column' },
    createElement(Static, { items: finished }, (item, at) => createElement(Text, { key: at }, item)),
    createElement(Text, null, growing),
    createElement(Text, null, `> ${draft}`),
  );
}

render(createElement(Chat));
