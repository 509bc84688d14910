-- usernames with which the account was seen in the group before, in lower case, the last one last; null for none
ALTER TABLE sightings ADD COLUMN former text[];
