/**
 * `npm run audit`: the packages of the lock file against published advisories, by the audit service of the registry that npm is set up for.
 *
 * Ends with 0 if nothing is known against them, 1 if something is, and 3 if no service answered: that is not "nothing is known".
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { lockedPackages } from './dependencies.ts';

export interface Verdict {
  readonly exit: 0 | 1 | 3;
  readonly lines: readonly string[];
}

interface Advisory {
  readonly title?: string;
  readonly url?: string;
}

interface Report {
  readonly auditReportVersion?: number;
  readonly vulnerabilities?: Readonly<
    Record<
      string,
      { readonly severity: string; readonly range: string; readonly via: readonly (Advisory | string)[]; readonly fixAvailable?: unknown }
    >
  >;
  readonly error?: { readonly code?: string; readonly summary?: string; readonly detail?: string };
  readonly message?: string;
}

const SEVERITIES = ['critical', 'high', 'moderate', 'low', 'info'];

/** @param output of `npm audit --json` @param shipped whether an installation of Quadmill includes a package */
export function verdictOf(output: string, shipped: (name: string) => boolean): Verdict {
  const report = parsed(output);
  if (report?.auditReportVersion === undefined || report.vulnerabilities === undefined) {
    const { error, message } = report ?? {};
    const said = [error?.code, error?.summary, message].filter((text) => text !== undefined && text !== '').join(': ');
    return {
      exit: 3,
      lines: [
        `The dependencies were not checked: the registry of npm offers no audit service here${said === '' ? '' : ` (${said})`}.`,
        'Run this where npm reaches one, such as https://registry.npmjs.org, or name it: npm_config_registry=https://… npm run audit',
      ],
    };
  }
  const found = Object.entries(report.vulnerabilities)
    .map(([name, { severity, range, via, fixAvailable }]) => ({
      name,
      severity,
      range,
      via,
      isFixed: Boolean(fixAvailable),
      isShipped: shipped(name),
    }))
    .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || (a.name < b.name ? -1 : 1));
  if (found.length === 0) return { exit: 0, lines: ['No advisory is known for the packages of package-lock.json.'] };
  const lines = found.map(({ name, severity, range, via, isFixed, isShipped }) => {
    const why = via.map((one) => (typeof one === 'string' ? `by way of ${one}` : `${one.title ?? 'no title'} ${one.url ?? ''}`.trim()));
    return `${severity}: ${name} ${range}, ${isShipped ? 'installed with Quadmill' : 'for developers alone'}, ${isFixed ? 'a fix is there' : 'no fix yet'}: ${why.join('; ')}`;
  });
  return { exit: 1, lines: [...lines, `${found.length} packages have advisories.`] };
}

function parsed(output: string): Report | undefined {
  try {
    const value: unknown = JSON.parse(output);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // Not JSON: npm, or what answered in place of a registry, has said something else.
    return undefined;
  }
}

function main(): void {
  const shipped = new Set(lockedPackages().flatMap(({ name, installed }) => (installed ? [name] : [])));
  const { stdout, error } = spawnSync('npm', ['audit', '--json'], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    timeout: 120_000,
  });
  const { exit, lines } = verdictOf(error === undefined ? stdout : JSON.stringify({ message: error.message }), (name) => shipped.has(name));
  for (const line of lines) console.log(line);
  process.exitCode = exit;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
