// Recognises providers' messages that a request does not fit into the window. They share no code, so their wording decides.

/** One provider's wording. */
export interface OverflowWording {
  readonly provider: string;
  readonly pattern: RegExp;
  /** A sentence of that provider that the pattern must match; the numbers are invented. */
  readonly example: string;
}

/**
 * One row per known wording. Numbers are named groups: `limit` is the window, `asked` the size of the request.
 * @source the providers' API references and the texts quoted in the trackers of agents that meet them daily (Codex, pi, crewAI,
 * Letta, OpenHands); read in November 2026.
 */
export const OVERFLOW_WORDINGS: readonly OverflowWording[] = [
  {
    provider: 'OpenAI Responses',
    pattern: /input exceeds the context window/i,
    example: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
  {
    provider: 'OpenAI, vLLM, OpenRouter, DeepSeek',
    pattern:
      /maximum context length (?:is|of) (?<limit>\d+(?:,\d+)*)(?: tokens)?(?:\D+?(?:requested|resulted in|request has|contains?(?: at least)?) (?:about )?(?<asked>\d[\d,]*))?/i,
    example:
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 10346 tokens.",
  },
  {
    provider: 'OpenAI',
    pattern: /input tokens exceed the configured limit of (?<limit>\d[\d,]*) tokens/i,
    example:
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
  },
  {
    provider: 'Anthropic',
    pattern: /prompt is too long(?::? (?<asked>\d[\d,]*) tokens > (?<limit>\d[\d,]*))?/i,
    example: 'prompt is too long: 213462 tokens > 200000 maximum',
  },
  {
    provider: 'Anthropic',
    pattern:
      /input length and `?max_tokens`? exceed context limit: (?<asked>\d[\d,]*) \+ \d[\d,]* > (?<limit>\d[\d,]*)/i,
    example:
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length',
  },
  {
    provider: 'Amazon Bedrock',
    pattern: /input is too long for (?:the )?requested model/i,
    example: 'Input is too long for requested model.',
  },
  {
    provider: 'Google',
    pattern:
      /input token count \(?(?<asked>\d[\d,]*)?\)? ?exceeds the maximum number of tokens allowed(?: \(?(?<limit>\d[\d,]*))?/i,
    example: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
  },
  {
    provider: 'xAI',
    pattern:
      /maximum prompt length is (?<limit>\d[\d,]*) but the request contains (?<asked>\d[\d,]*) tokens/i,
    example: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  },
  {
    provider: 'Groq',
    pattern: /reduce the length of the messages/i,
    example: 'Please reduce the length of the messages or completion.',
  },
  {
    provider: 'GitHub Copilot',
    pattern: /prompt token count of (?<asked>\d[\d,]*) exceeds the limit of (?<limit>\d[\d,]*)/i,
    example: 'prompt token count of 130000 exceeds the limit of 128000',
  },
  {
    provider: 'llama.cpp',
    pattern:
      /(?:request \((?<asked>\d[\d,]*) tokens\) |request )exceeds the available context size(?: \((?<limit>\d[\d,]*) tokens\))?/i,
    example: 'request (9120 tokens) exceeds the available context size (8192 tokens), try increasing it',
  },
  {
    provider: 'LM Studio',
    pattern: /tokens to keep from the initial prompt is greater than the context length/i,
    example: 'The number of tokens to keep from the initial prompt is greater than the context length.',
  },
  {
    provider: 'Ollama',
    pattern: /input length exceeds (?:the |maximum )?context length/i,
    example: 'the input length exceeds the context length',
  },
  {
    provider: 'Moonshot',
    pattern: /exceeded model token limit: (?<limit>\d[\d,]*)(?: \(requested: (?<asked>\d[\d,]*)\))?/i,
    example: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)',
  },
  {
    provider: 'MiniMax',
    pattern: /context window exceeds limit/i,
    example: 'invalid params, context window exceeds limit (2013)',
  },
  {
    provider: 'Mistral',
    pattern:
      /prompt contains (?<asked>\d[\d,]*) tokens(?: and \d[\d,]* draft tokens)?,? too large for model with (?<limit>\d[\d,]*) maximum context length/i,
    example:
      'Prompt contains 130010 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
  },
  {
    provider: 'Cerebras, Together',
    pattern: /(?:context length|context window) (?:was |has been |is )?exceeded/i,
    example: 'Current length is 9000 while limit is 8192: context length exceeded',
  },
];

/** Codes for an overflow, regardless of the message. @source OpenAI, llama.cpp, Z.ai */
const OVERFLOW_CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
]);

/** Rate limits mention tokens, too: waiting helps against them, but not against an overflow. */
const RATE_WORDING = /per[ -](?:min|hour|day|second)|\bTPM\b|\bTPD\b|\bRPM\b|rate.?limit|quota/i;

/** The numbers in an overflow message, in tokens. */
export interface Overflow {
  readonly limitTokens?: number;
  readonly requestedTokens?: number;
}

/** Whether a provider's message or code says that the request exceeds the window. */
export function findOverflow(message: string, code?: string): Overflow | undefined {
  const isCode = code !== undefined && OVERFLOW_CODES.has(code);
  if (!isCode && RATE_WORDING.test(message)) return undefined;
  const text = withPlainNumbers(message);
  for (const { pattern } of OVERFLOW_WORDINGS) {
    const match = pattern.exec(text);
    if (match !== null) return countsOf(match);
  }
  return isCode ? {} : undefined;
}

function countsOf({ groups = {} }: RegExpExecArray): Overflow {
  const limit = countOf(groups['limit']);
  const asked = countOf(groups['asked']);
  return {
    ...(limit === undefined ? {} : { limitTokens: limit }),
    ...(asked === undefined ? {} : { requestedTokens: asked }),
  };
}

/** Numbers grouped by anything but a comma: `131.072`, `1 048 576`. */
const GROUPED = /(?<![\d.,])\d{1,3}(?:[ .'’_\u00a0\u202f]\d{3})+(?!\d)/g;

/** Numbers in thousands: `128k`. It may mean 1,000 or 1,024; the smaller window is safe. */
const IN_THOUSANDS = /(?<=\b\d{1,4})k\b/gi;

function withPlainNumbers(message: string): string {
  return message
    .replaceAll(GROUPED, (number) => number.replaceAll(/\D/g, ''))
    .replaceAll(IN_THOUSANDS, '000');
}

function countOf(digits: string | undefined): number | undefined {
  const count = Number(digits?.replaceAll(',', ''));
  return Number.isSafeInteger(count) ? count : undefined;
}
