/** Seeds the property tests: the same cases in every run, so that a run fails for what was changed and not by chance. `npm run properties` draws others. */
import { configureGlobal, readConfigureGlobal } from 'fast-check';

configureGlobal({ ...readConfigureGlobal(), seed: Number(process.env['STOWAGE_TEST_SEED'] ?? 1) });
