-- With a webhook, an instance is careful after every start, whatever became of the others.
DROP TABLE webhook_instances;
