/** The behaviour suite on the kubelet of the configuration: the embedded cluster's in `npm test`, a real one in `npm run test:node`. */
import './behaviour/lifecycle.behaviour.ts';
import './behaviour/refusals.behaviour.ts';
import './behaviour/resize.behaviour.ts';
import './behaviour/timings.behaviour.ts';
