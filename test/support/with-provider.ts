// What the tests of one file share that run the built program against a provider on the loopback.

import assert from 'node:assert/strict';
import { after, afterEach, before } from 'node:test';
import { NOT_BUILT } from './built.ts';
import { Client } from './client.ts';
import type { ExecFixture } from './exec.ts';
import { temporaryDirectory } from './program.ts';
import { startProviderServer } from './provider-server/server.ts';
import type { ProviderServer } from './provider-server/server.ts';

/** Starts a provider for the tests of this file, which fail at once if the program is not built. */
export async function startWithProvider(): Promise<{
  readonly root: string;
  readonly server: ProviderServer;
}> {
  const root = temporaryDirectory();
  const server = await startProviderServer({ replies: [{}] });
  after(() => server.close());
  before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));
  return { root, server };
}

/** @returns a function that starts `serve`; a client that a failed test leaves behind, which would hold the process, is killed */
export function clientStarter(): (at: ExecFixture, args?: readonly string[], window?: number) => Client {
  const clients = new Set<Client>();
  afterEach(() => {
    for (const client of clients) client.kill('SIGKILL');
    clients.clear();
  });
  return (at, args, window) => {
    const client = new Client(at, args, window);
    clients.add(client);
    return client;
  };
}
