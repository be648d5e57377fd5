/** The behaviour suite on the embedded cluster's kubelet; `npm run test:node` runs the same files on a real one. */
import './behaviour/lifecycle.behaviour.ts';
import './behaviour/refusals.behaviour.ts';
import './behaviour/resize.behaviour.ts';
import './behaviour/timings.behaviour.ts';
