/** The peak memory of this process. */
import { readFileSync } from 'node:fs';

/**
 * Peak resident bytes. Read from /proc on Linux: the figure of `resourceUsage` there starts with the memory of the parent process, so every
 * run under a large parent would seem large.
 */
export function peakMemoryBytes(): number {
  const highWater = process.platform === 'linux' ? /^VmHWM:\s*(\d+) kB$/m.exec(statusOfSelf())?.[1] : undefined;
  return (highWater === undefined ? process.resourceUsage().maxRSS : Number(highWater)) * 1024;
}

function statusOfSelf(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    // A sandbox without /proc: use the other figure.
    return '';
  }
}
