/** The last words of a test run: what was skipped and why (the names say it), and the counts alone on a line. */
export default class Reporter {
  onRunComplete(_contexts, results) {
    const skipped = results.testResults.flatMap(({ testResults }) =>
      testResults.filter(({ status }) => status === 'pending' || status === 'todo'),
    );
    if (skipped.length > 0) console.log(`\nskipped:\n${skipped.map(({ fullName }) => `  ${fullName}`).join('\n')}`);
    const broken = results.numRuntimeErrorTestSuites;
    const { numPassedTests: passed, numFailedTests: failed } = results;
    console.log(`\n${passed} passed, ${failed + broken} failed, ${skipped.length} skipped`);
  }
}
