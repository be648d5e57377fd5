// Prints "passed failed skipped" of one or more JSON reports of the test runner, and what failed to stderr; exits 1 where a report is missing or empty.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

let passed = 0;
let failed = 0;
let skipped = 0;
for (const file of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  // A file that fails to load has no test results of its own, so failed files without a failed test count once each.
  const brokenFiles = report.testResults.filter(
    (result) => result.status === 'failed' && result.assertionResults.every((test) => test.status !== 'failed'),
  );
  const nameOf = (path) => relative(process.cwd(), path);
  for (const { name, assertionResults } of report.testResults)
    for (const test of assertionResults.filter(({ status }) => status === 'failed'))
      process.stderr.write(`  ${nameOf(name)} > ${test.fullName}\n`);
  for (const { name } of brokenFiles) process.stderr.write(`  ${nameOf(name)}\n`);
  passed += report.numPassedTests;
  failed += report.numFailedTests + brokenFiles.length;
  skipped += report.numPendingTests + report.numTodoTests;
}
if (passed + failed + skipped === 0) {
  process.stderr.write('no test was run\n');
  process.exit(1);
}
process.stdout.write(`${passed} ${failed} ${skipped}\n`);
