/** Ends what `setup.js` began. */
export default () => globalThis.endTestRun();
