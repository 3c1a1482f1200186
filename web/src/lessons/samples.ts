/** Samples of windows and queues over a lesson's run. */
export const SAMPLES = 1200;
