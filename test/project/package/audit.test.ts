/** What `npm run audit` makes of the answers of npm. */
import { expect, test } from '@jest/globals';
import { verdictOf } from './audit.ts';

const shipped = (name: string): boolean => name === 'koa';

test('nothing is known', () => {
  expect(verdictOf(JSON.stringify({ auditReportVersion: 2, vulnerabilities: {}, metadata: {} }), shipped)).toEqual({
    exit: 0,
    lines: ['No advisory is known for the packages of package-lock.json.'],
  });
});

test('advisories, the worst first, with who gets the package', () => {
  const vulnerabilities = {
    jest: { severity: 'low', range: '<30', via: ['x'], fixAvailable: false },
    koa: {
      severity: 'high',
      range: '<3.0.1',
      via: [{ title: 'Open redirect', url: 'https://advisories.example/1' }],
      fixAvailable: { name: 'koa' },
    },
  };
  expect(verdictOf(JSON.stringify({ auditReportVersion: 2, vulnerabilities }), shipped)).toEqual({
    exit: 1,
    lines: [
      'high: koa <3.0.1, installed with Quadmill, a fix is there: Open redirect https://advisories.example/1',
      'low: jest <30, for developers alone, no fix yet: by way of x',
      '2 packages have advisories.',
    ],
  });
});

test.each([
  ['an error of npm', '{"error":{"code":"ENOAUDIT","summary":"no audit endpoint"}}', /\(ENOAUDIT: no audit endpoint\)/],
  ['another message', '{"message":"404 Not Found"}', /\(404 Not Found\)/],
  ['no JSON', '<html>', /no audit service here\./],
  ['nothing', '', /no audit service here\./],
  ['JSON of another kind', '[]', /no audit service here\./],
])('no answer: %s', (_, output, message) => {
  const { exit, lines } = verdictOf(output, shipped);
  expect([exit, lines.length]).toEqual([3, 2]);
  expect(lines[0]).toMatch(message);
});
