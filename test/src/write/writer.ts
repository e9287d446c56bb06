/** A writer process for tests: `node targets-writer.js REQUEST.json`. A line of JSON for each progress, and at the end the report or the fault. */
import { readFileSync } from 'node:fs';
import { peakMemoryBytes } from '../../../bin/report/peak-memory.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { WriteRequest } from '../../../src/write/request.ts';
import { executeWrite } from '../../../src/write/write.ts';

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const request = JSON.parse(readFileSync(process.argv[2] as string, 'utf8')) as WriteRequest;
try {
  const report = await executeWrite(
    // JSON has no infinity: it comes back as null.
    { ...request, maxRejected: request.maxRejected ?? Number.POSITIVE_INFINITY },
    { signal: new AbortController().signal, progress: (progress) => say({ progress }) },
  );
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  say({ report, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMemoryBytes: peakMemoryBytes() });
} catch (error) {
  say({ fault: Fault.of(error).toJSON() });
}
