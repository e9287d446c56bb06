/** How much memory this process has held at most. */
import { readFileSync } from 'node:fs';

/**
 * Bytes resident at the peak. On Linux from /proc: the figure of `resourceUsage` there begins with what the process that
 * started this one held at that moment, so under a large parent every run would seem large.
 */
export function peakMemoryBytes(): number {
  const highWater = process.platform === 'linux' ? /^VmHWM:\s*(\d+) kB$/m.exec(statusOfSelf())?.[1] : undefined;
  return (highWater === undefined ? process.resourceUsage().maxRSS : Number(highWater)) * 1024;
}

function statusOfSelf(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    // A sandbox without /proc: the other figure is better than none.
    return '';
  }
}
