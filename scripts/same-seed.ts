import { configureGlobal } from "fast-check";

const { BANYAN_SEED } = process.env;

// fast-check uses the same seed as all other tests with random cases.
if (BANYAN_SEED !== undefined) configureGlobal({ seed: Number(BANYAN_SEED) });
