// The program for the commands that run a thread. They need most of Baton, so the build puts it into a file of its own for them.

export { run } from './process.ts';
