// `ask_user`: a question from the agent to the thread's user.

import * as z from 'zod';
import { canApprove } from '../tools/approval.ts';
import { defineTool, done, failed } from '../tools/tool.ts';
import type { Tool } from '../tools/tool.ts';
import type { Author } from '../vocabulary.ts';
import type { PendingApprovals } from './pending-approvals.io.ts';

/** More options than this nobody reads before choosing. */
const MAX_OPTIONS = 6;

/**
 * The tool of a thread whose user can answer.
 * @param author of the message that the running turn answers: a turn of the watcher's may not ask
 */
export function createAskUserTool(approvals: PendingApprovals, author: () => Author): Tool {
  return defineTool({
    name: 'ask_user',
    kind: 'state',
    description:
      'Asks the user one question and waits for the answer. Use it only for what you cannot find out yourself and what determines how to proceed; otherwise choose, and say what you chose.',
    arguments: {
      question: z.string().trim().min(1).max(2000),
      options: z
        .array(
          z.strictObject({
            label: z.string().trim().min(1).max(100),
            description: z.string().max(500).optional(),
          }),
        )
        .max(MAX_OPTIONS)
        .optional()
        .describe('What the user may choose from; they may also answer in their own words.'),
    },
    run: async ({ question, options = [] }, { callId }, signal) => {
      if (!canApprove(author()))
        return failed('There is no one to ask in this turn, which is not the user’s.');
      const choices = options.map(({ label, description }) =>
        description === undefined ? { label } : { label, description },
      );
      const answer = await approvals.ask(callId, { question, options: choices }, signal);
      return answer === undefined
        ? failed('There is no longer anyone to ask: decide, and say so.')
        : done(answer);
    },
  }) as Tool;
}
