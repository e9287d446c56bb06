/** `/restartKafka`: switches the message queue connection. There is none yet: without brokers that is the caller's to mend. */
import { SERVICES, type Service } from '../queues/jobs.ts';
import { Fault } from '../src/fault.ts';
import type { Api, Route } from './route.ts';

export function kafkaRoute(api: Api, service: Service): Route {
  return {
    method: 'GET',
    path: '/restartKafka',
    role: 'admin',
    summary: 'Switches the message queue connection on or off',
    acts: true,
    replies: {
      409: { description: 'No brokers are configured', type: 'application/problem+json', schema: 'Problem' },
      501: { description: 'This version does not offer it yet', type: 'application/problem+json', schema: 'Problem' },
    },
    handle: async () => {
      if (api.config.snapshot().KAFKA_BROKERS.length === 0) {
        throw new Fault('request/conflict', 'There is no message queue to switch on or off: no brokers are configured', {
          hint: 'Set the environment variable KAFKA_BROKERS to host:port,… and restart',
        });
      }
      throw new Fault('service/not-yet', `This version does not offer GET /restartKafka of the ${SERVICES[service].name} yet`);
    },
  };
}
