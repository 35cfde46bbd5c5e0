// What the peers have in common: a history of 400 messages, and the reading of the stream.

export const HISTORY = Array.from({ length: 200 }, () => [
  'What are the totals?',
  'The totals are sums of cents.',
]).flat();

/** Reads the answer of the provider whose port is in the environment. */
export async function readStream(take) {
  const response = await fetch(`http://127.0.0.1:${process.env.STREAM_PORT}/v1/responses`, {
    method: 'POST',
    body: '{}',
  });
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = line.startsWith('data: ') ? JSON.parse(line.slice(6)) : undefined;
      if (event?.type === 'response.output_text.delta') take(event.delta);
    }
  }
}
