/** The conformance suite on the embedded cluster. On a real control plane the same files run by themselves: `npm run test:cluster`. */
import './access.conformance.ts';
import './admission.conformance.ts';
import './apply.conformance.ts';
import './defaults.conformance.ts';
import './deletions.conformance.ts';
import './deployments.conformance.ts';
import './disruption-budgets.conformance.ts';
import './events-and-leases.conformance.ts';
import './evictions.conformance.ts';
import './lists.conformance.ts';
import './objects.conformance.ts';
import './patches.conformance.ts';
import './replica-sets.conformance.ts';
import './stateful-sets.conformance.ts';
import './subresources.conformance.ts';
import './validation.conformance.ts';
import './watches.conformance.ts';
