// The same stream in pi-tui alone: 400 messages above, an editor below, the answer as Markdown between them.

import { Container, Editor, Markdown, ProcessTerminal, TUI } from '@earendil-works/pi-tui';
import { HISTORY, readStream } from './peer.mjs';

const plain = (text) => text;
const styles = new Proxy({}, { get: () => plain });
const tui = new TUI(new ProcessTerminal());
const chat = new Container();
for (const text of HISTORY) chat.addChild(new Markdown(text, 0, 0, styles));
tui.addChild(chat);
const editor = new Editor(tui, { borderColor: plain, selectList: styles });
tui.addChild(editor);
tui.setFocus(editor);
tui.start();
const answer = new Markdown('', 0, 0, styles);
editor.onSubmit = () => {
  chat.addChild(answer);
  let text = '';
  void readStream((delta) => {
    text += delta;
    answer.setText(text);
    tui.requestRender();
  });
};
