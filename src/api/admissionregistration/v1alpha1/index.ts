import { inVersion } from '../../in-version.ts';
import { granular } from '../../schema.ts';
import * as v1 from '../v1/index.ts';

const lifecycle = { introduced: '1.32', deprecated: '1.35', removed: '1.38' };
const types = new Map([['Variable', granular(v1.Variable)]]);

export const MutatingAdmissionPolicy = inVersion(v1.MutatingAdmissionPolicy, 'v1alpha1', { lifecycle, types });
export const MutatingAdmissionPolicyBinding = inVersion(v1.MutatingAdmissionPolicyBinding, 'v1alpha1', { lifecycle, types });
