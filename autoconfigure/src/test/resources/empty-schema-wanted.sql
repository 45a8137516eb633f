SELECT 1 / CASE WHEN to_regclass('distributed_permit_key') IS NULL THEN 1 ELSE 0 END;
