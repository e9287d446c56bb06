/** The line of `--stats`. */
import type { RunReport } from '../../src/run/request.ts';
import { peakMemoryBytes } from './peak-memory.ts';

/** Seconds and CPU time count from the start of the process. */
export function statsOf(report: RunReport): Readonly<Record<string, number>> {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return {
    records: report.records,
    quads: report.quads,
    rejected: report.rejected,
    bytesRead: report.bytesRead,
    bytesWritten: report.bytesWritten,
    seconds: performance.now() / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    userSeconds: userCPUTime / 1e6,
    systemSeconds: systemCPUTime / 1e6,
    peakMemoryBytes: peakMemoryBytes(),
  };
}
