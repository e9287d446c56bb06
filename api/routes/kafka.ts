/** `/restartKafka`: switches the message queue connection of the whole fleet. */
import { Fault } from '../../src/core/fault.ts';
import { type Api, type Route, withinQueueWait } from '../route.ts';

export function kafkaRoute(api: Api): Route {
  return {
    method: 'GET',
    path: '/restartKafka',
    role: 'admin',
    summary: 'Switches the message queue connection of all processes off, or on again',
    hasSideEffects: true,
    replies: {
      200: {
        description: 'What it is now',
        schema: { type: 'object', properties: { kafka: { type: 'string', enum: ['on', 'off'] } }, required: ['kafka'] },
      },
      409: { description: 'There is none', type: 'application/problem+json', schema: 'Problem' },
    },
    handle: async ({ actor }) => {
      const { messageQueue } = api;
      if (messageQueue === undefined) throw noQueueFault(api);
      const on = await withinQueueWait(api, messageQueue.toggle());
      const kafka = on ? 'on' : 'off';
      api.logger.info({ kafka, actor }, 'message queue switched');
      return { status: 200, body: { kafka } };
    },
  };
}

function noQueueFault({ config }: Api): Fault {
  if (config.snapshot().KAFKA_BROKERS.length > 0) {
    return new Fault('request/conflict', 'There is no message queue to switch on or off: the service stands alone', {
      hint: 'Leave the environment variable TRANSFORMER_RUN_STANDALONE out, or set it to false, and restart',
    });
  }
  return new Fault('request/conflict', 'There is no message queue to switch on or off: no brokers are configured', {
    hint: 'Set KAFKA_BROKERS to host:port,… with PUT /updateConfig, or as an environment variable',
  });
}
