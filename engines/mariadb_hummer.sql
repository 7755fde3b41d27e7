CREATE TABLE HummerControl(stopped INT, read_share INT, update_share INT, insert_share INT, pause_every BIGINT, pause_ms BIGINT)
//
INSERT INTO HummerControl VALUES (0, 10, 0, 0, 0, 0)
//
CREATE PROCEDURE CardRead(IN card INT, INOUT digest BIGINT UNSIGNED)
BEGIN
  DECLARE line VARCHAR(200);
  SELECT CONCAT_WS(' ', CardID, CardNumber, SecurityCode, SecureString, Changed) INTO line FROM Card WHERE CardID = card;
  SET digest = CRC32(CONCAT(digest, line));
END
//
CREATE PROCEDURE VendorUpdate(IN vendor INT, IN name VARCHAR(40), IN moment DATETIME)
BEGIN
  UPDATE Vendor SET BusinessName = name, Changed = moment WHERE VendorID = vendor;
END
//
CREATE PROCEDURE PurchaseInsert(IN card INT, IN vendor INT, IN cents INT, IN moment DATETIME)
BEGIN
  INSERT INTO Purchase(CardID, VendorID, Amount, PurchaseDate) VALUES (card, vendor, cents, moment);
END
//
CREATE PROCEDURE Hummer(IN seed BIGINT, IN process INT, IN loops BIGINT)
BEGIN
  DECLARE number, place, every_loops, pause_time, waited, is_stopped BIGINT DEFAULT 0;
  DECLARE mix_reads, mix_updates, mix_inserts, reads_done, updates_done, inserts_done BIGINT DEFAULT 0;
  DECLARE cards, vendors INT;
  DECLARE digest BIGINT UNSIGNED DEFAULT 0;
  DECLARE moment DATETIME;
  SET @@session.rand_seed1 = (seed * 3 + process * 7919) MOD 1073741823, @@session.rand_seed2 = (seed + process) MOD 1073741823;
  SELECT MAX(CardID) INTO cards FROM Card;
  SELECT MAX(VendorID) INTO vendors FROM Vendor;
  turns: WHILE number < loops DO
    SELECT stopped, read_share, update_share, insert_share, pause_every, pause_ms
      INTO is_stopped, mix_reads, mix_updates, mix_inserts, every_loops, pause_time FROM HummerControl;
    IF is_stopped THEN
      LEAVE turns;
    END IF;
    SET place = number MOD 10;
    IF place < mix_reads THEN
      CALL CardRead(1 + FLOOR(RAND() * cards), digest);
      SET reads_done = reads_done + 1;
    ELSE
      SET moment = '2026-01-01' + INTERVAL FLOOR(RAND() * 31000000) SECOND;
      IF place < mix_reads + mix_updates THEN
        CALL VendorUpdate(1 + FLOOR(RAND() * vendors), CONCAT('PlainToRead-Card', LEFT(MD5(RAND()), 24)), moment);
        SET updates_done = updates_done + 1;
      ELSE
        CALL PurchaseInsert(1 + FLOOR(RAND() * cards), 1 + FLOOR(RAND() * vendors), FLOOR(RAND() * 1000000), moment);
        SET inserts_done = inserts_done + 1;
      END IF;
    END IF;
    SET number = number + 1;
    IF every_loops > 0 AND number MOD every_loops = 0 AND number < loops THEN
      SET waited = 0;
      WHILE waited < pause_time AND NOT is_stopped DO
        DO SLEEP(LEAST(pause_time - waited, 50) / 1000);
        SET waited = waited + 50;
        SELECT stopped INTO is_stopped FROM HummerControl;
      END WHILE;
    END IF;
  END WHILE;
  SELECT reads_done, updates_done, inserts_done, LPAD(HEX(digest), 8, '0');
END
