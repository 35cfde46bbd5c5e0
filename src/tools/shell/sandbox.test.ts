import assert from 'node:assert/strict';
import { it } from 'node:test';
import { socketCandidates } from './sandbox.ts';

it('finds sockets by the tables of the kernel, also those that are mounted into a container', () => {
  const unix = [
    'Num       RefCount Protocol Flags    Type St Inode Path',
    '0000000000000000: 00000002 00000000 00010000 0001 01 21 /home/u/a b.sock',
    '0000000000000000: 00000002 00000000 00010000 0001 01 22 @/abstract',
    '0000000000000000: 00000002 00000000 00010000 0001 01 23 relative.sock',
    '0000000000000000: 00000003 00000000 00000000 0001 03 24',
    '',
  ].join('\n');
  const mounts = '36 35 98:0 /docker.sock /srv/my\\040docker.sock rw,noatime - ext4 /dev/sda1 rw\n';
  assert.deepEqual([...socketCandidates(unix, mounts)], ['/home/u/a b.sock', '/srv/my docker.sock']);
});
