import { inVersion } from '../../in-version.ts';
import * as v1 from '../v1/index.ts';

export const VolumeAttributesClass = inVersion(v1.VolumeAttributesClass, 'v1beta1', {
  lifecycle: { introduced: '1.31', deprecated: '1.34', removed: '1.37', replacement: 'v1' },
});
