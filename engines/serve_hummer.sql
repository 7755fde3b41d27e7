CREATE TABLE HummerControl(stopped int, read_share int, update_share int, insert_share int, pause_every bigint, pause_ms bigint)
//
INSERT INTO HummerControl VALUES (0, 10, 0, 0, 0, 0)
//
CREATE PROCEDURE CardRead @card int, @digest varchar(32) OUTPUT AS
BEGIN
  DECLARE @line varchar(200);
  SELECT @line = CONCAT(CardID, ' ', CardNumber, ' ', SecurityCode, ' ', SecureString, ' ', CONVERT(varchar(19), Changed, 120))
  FROM Card WHERE CardID = @card;
  SET @digest = CONVERT(varchar(32), HASHBYTES('MD5', CONCAT(@digest, @line)), 2);
END
//
CREATE PROCEDURE VendorUpdate @vendor int, @name varchar(40), @moment datetime2(0) AS
UPDATE Vendor SET BusinessName = @name, Changed = @moment WHERE VendorID = @vendor;
//
CREATE PROCEDURE PurchaseInsert @card int, @vendor int, @cents int, @moment datetime2(0) AS
INSERT INTO Purchase(CardID, VendorID, Amount, PurchaseDate) VALUES (@card, @vendor, @cents, @moment);
//
CREATE PROCEDURE Hummer @seed int, @process int, @loops bigint AS
BEGIN
  SET NOCOUNT ON;
  DECLARE @number bigint = 0, @place bigint, @waited bigint, @stopped int, @every bigint, @pause bigint;
  DECLARE @read_share int, @update_share int, @insert_share int;
  DECLARE @reads bigint = 0, @updates bigint = 0, @inserts bigint = 0;
  DECLARE @digest varchar(32) = '', @card int, @vendor int, @cents int, @name varchar(40), @moment datetime2(0);
  DECLARE @cards int = (SELECT MAX(CardID) FROM Card), @vendors int = (SELECT MAX(VendorID) FROM Vendor);
  -- What follows is the same for the same seed and process.
  DECLARE @drawn float = RAND((@seed + @process * 7919) % 1000003);
  WHILE @number < @loops
  BEGIN
    SELECT @stopped = stopped, @read_share = read_share, @update_share = update_share, @insert_share = insert_share,
      @every = pause_every, @pause = pause_ms FROM HummerControl;
    IF @stopped <> 0 BREAK;
    SET @place = @number % 10;
    IF @place < @read_share
    BEGIN
      SET @card = 1 + FLOOR(RAND() * @cards);
      EXEC CardRead @card, @digest OUTPUT;
      SET @reads = @reads + 1;
    END
    ELSE
    BEGIN
      SET @moment = DATEADD(second, CONVERT(int, RAND() * 31000000), '2026-01-01');
      SET @vendor = 1 + FLOOR(RAND() * @vendors);
      IF @place < @read_share + @update_share
      BEGIN
        SET @name = CONCAT('PlainToRead-Card', LEFT(CONVERT(varchar(32), HASHBYTES('MD5', STR(RAND(), 20, 16)), 2), 24));
        EXEC VendorUpdate @vendor, @name, @moment;
        SET @updates = @updates + 1;
      END
      ELSE
      BEGIN
        SET @card = 1 + FLOOR(RAND() * @cards);
        SET @cents = FLOOR(RAND() * 1000000);
        EXEC PurchaseInsert @card, @vendor, @cents, @moment;
        SET @inserts = @inserts + 1;
      END
    END
    SET @number = @number + 1;
    IF @every > 0 AND @number % @every = 0 AND @number < @loops
    BEGIN
      SET @waited = 0;
      WHILE @waited < @pause AND @stopped = 0
      BEGIN
        WAITFOR DELAY '00:00:00.050';
        SET @waited = @waited + 50;
        SELECT @stopped = stopped FROM HummerControl;
      END
    END
  END
  SELECT @reads, @updates, @inserts, @digest;
END
