import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a test run with one plain line, `N passed, N failed[, N skipped]`, for programs that read the log. Tests that failed
 * and then passed are named before this line.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const failedBefore = count.failed;
      for (const test of module.children.allTests()) {
        count[test.result().state]++;
        if (test.diagnostic()?.flaky)
          process.stdout.write(`\nPassed only when tried again: ${module.relativeModuleId} > ${test.fullName}`);
      }
      // A file that failed to load, or whose hooks failed, has no failed test.
      if (module.state() === "failed" && count.failed === failedBefore) count.failed++;
    }
    const notRun = count.skipped + count.pending;
    process.stdout.write(
      `\n${count.passed} passed, ${count.failed} failed${notRun > 0 ? `, ${notRun} skipped` : ""}\n`,
    );
  }
}
