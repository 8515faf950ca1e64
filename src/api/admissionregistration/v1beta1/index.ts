import { inVersion } from '../../in-version.ts';
import * as v1 from '../v1/index.ts';

const lifecycle = { introduced: '1.34', deprecated: '1.37', removed: '1.40', replacement: 'v1' };

export const MutatingAdmissionPolicy = inVersion(v1.MutatingAdmissionPolicy, 'v1beta1', { lifecycle });
export const MutatingAdmissionPolicyBinding = inVersion(v1.MutatingAdmissionPolicyBinding, 'v1beta1', { lifecycle });
