// Preloaded into a measured process: tells the parent, when it ends, how much memory it held at most.

process.on('exit', () => {
  // On all platforms in KiB.
  process.send?.(process.resourceUsage().maxRSS);
  process.disconnect?.();
});
