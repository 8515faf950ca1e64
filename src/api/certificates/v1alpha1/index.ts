import { inVersion } from '../../in-version.ts';
import * as v1beta1 from '../v1beta1/index.ts';

export const ClusterTrustBundle = inVersion(v1beta1.ClusterTrustBundle, 'v1alpha1', {
  lifecycle: { introduced: '1.26', deprecated: '1.34', removed: '1.37' },
});
