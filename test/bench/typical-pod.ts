/** A running pod as the API returns it, about 4 KB of JSON: with defaults, additions of admission and status. */
export const typicalPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-6d4cf56db6-x2x7q',
    generateName: 'web-6d4cf56db6-',
    namespace: 'default',
    uid: '5a1b4c52-9d6c-4b8b-a0d5-1f0a5b7f8c11',
    resourceVersion: '123456',
    creationTimestamp: '2026-01-02T03:04:05Z',
    labels: {
      app: 'web',
      'pod-template-hash': '6d4cf56db6',
      tier: 'frontend',
    },
    annotations: {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '9090',
    },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web-6d4cf56db6',
        uid: 'aa1b4c52-9d6c-4b8b-a0d5-1f0a5b7f8c11',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    managedFields: [
      {
        manager: 'kube-controller-manager',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2026-01-02T03:04:05Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': {
            'f:generateName': {},
            'f:labels': {
              '.': {},
              'f:app': {},
              'f:pod-template-hash': {},
            },
            'f:ownerReferences': {
              '.': {},
              'k:{"uid":"aa1b4c52-9d6c-4b8b-a0d5-1f0a5b7f8c11"}': {},
            },
          },
          'f:spec': {
            'f:containers': {
              'k:{"name":"web"}': {
                '.': {},
                'f:image': {},
                'f:imagePullPolicy': {},
                'f:name': {},
                'f:resources': {},
              },
            },
            'f:dnsPolicy': {},
            'f:restartPolicy': {},
            'f:schedulerName': {},
          },
        },
      },
    ],
  },
  spec: {
    volumes: [
      {
        name: 'config',
        configMap: {
          name: 'web-config',
          defaultMode: 420,
        },
      },
      {
        name: 'kube-api-access-abcde',
        projected: {
          sources: [
            {
              serviceAccountToken: {
                expirationSeconds: 3607,
                path: 'token',
              },
            },
            {
              configMap: {
                name: 'kube-root-ca.crt',
                items: [
                  {
                    key: 'ca.crt',
                    path: 'ca.crt',
                  },
                ],
              },
            },
            {
              downwardAPI: {
                items: [
                  {
                    path: 'namespace',
                    fieldRef: {
                      apiVersion: 'v1',
                      fieldPath: 'metadata.namespace',
                    },
                  },
                ],
              },
            },
          ],
          defaultMode: 420,
        },
      },
    ],
    containers: [
      {
        name: 'web',
        image: 'registry.example.com/web:1.2.3',
        args: ['--port=8080', '--verbose'],
        ports: [
          {
            name: 'http',
            containerPort: 8080,
            protocol: 'TCP',
          },
          {
            name: 'metrics',
            containerPort: 9090,
            protocol: 'TCP',
          },
        ],
        env: [
          {
            name: 'POD_NAME',
            valueFrom: {
              fieldRef: {
                apiVersion: 'v1',
                fieldPath: 'metadata.name',
              },
            },
          },
          {
            name: 'LOG_LEVEL',
            value: 'info',
          },
          {
            name: 'DB_HOST',
            value: 'db.default.svc.cluster.local',
          },
        ],
        resources: {
          limits: {
            cpu: '500m',
            memory: '256Mi',
          },
          requests: {
            cpu: '100m',
            memory: '128Mi',
          },
        },
        volumeMounts: [
          {
            name: 'config',
            mountPath: '/etc/web',
          },
          {
            name: 'kube-api-access-abcde',
            readOnly: true,
            mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
          },
        ],
        livenessProbe: {
          httpGet: {
            path: '/healthz',
            port: 8080,
            scheme: 'HTTP',
          },
          initialDelaySeconds: 5,
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        readinessProbe: {
          httpGet: {
            path: '/ready',
            port: 'http',
            scheme: 'HTTP',
          },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
        securityContext: {
          runAsNonRoot: true,
          allowPrivilegeEscalation: false,
        },
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    serviceAccount: 'default',
    nodeName: 'node-1',
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: [
      {
        key: 'node.kubernetes.io/not-ready',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      },
      {
        key: 'node.kubernetes.io/unreachable',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      },
    ],
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  },
  status: {
    phase: 'Running',
    conditions: [
      {
        type: 'Initialized',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-02T03:04:05Z',
      },
      {
        type: 'Ready',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-02T03:04:08Z',
      },
      {
        type: 'ContainersReady',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-02T03:04:08Z',
      },
      {
        type: 'PodScheduled',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-02T03:04:05Z',
      },
    ],
    hostIP: '10.0.0.5',
    hostIPs: [
      {
        ip: '10.0.0.5',
      },
    ],
    podIP: '10.244.0.7',
    podIPs: [
      {
        ip: '10.244.0.7',
      },
    ],
    startTime: '2026-01-02T03:04:05Z',
    containerStatuses: [
      {
        name: 'web',
        state: {
          running: {
            startedAt: '2026-01-02T03:04:07Z',
          },
        },
        lastState: {},
        ready: true,
        restartCount: 0,
        image: 'registry.example.com/web:1.2.3',
        imageID: 'registry.example.com/web@sha256:0123456789abcdef',
        containerID: 'containerd://0123456789abcdef0123456789abcdef',
        started: true,
      },
    ],
    qosClass: 'Burstable',
  },
};
