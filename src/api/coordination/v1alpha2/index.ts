import { inVersion } from '../../in-version.ts';
import * as v1beta1 from '../v1beta1/index.ts';

export const LeaseCandidate = inVersion(v1beta1.LeaseCandidate, 'v1alpha2', {
  lifecycle: { introduced: '1.32', deprecated: '1.35', removed: '1.38' },
});
