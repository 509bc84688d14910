DROP TABLE webhook_instances;
DROP TABLE update_attempts;
