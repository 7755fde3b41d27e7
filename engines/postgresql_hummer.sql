CREATE TABLE HummerControl(stopped int, read_share int, update_share int, insert_share int, pause_every bigint, pause_ms bigint)
//
INSERT INTO HummerControl VALUES (0, 10, 0, 0, 0, 0)
//
CREATE FUNCTION CardRead(wanted int, digest text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT md5(digest || c::text) FROM Card AS c WHERE CardID = wanted);
END
$$
//
CREATE PROCEDURE VendorUpdate(wanted int, name text, moment timestamp) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE Vendor SET BusinessName = name, Changed = moment WHERE VendorID = wanted;
END
$$
//
CREATE PROCEDURE PurchaseInsert(card int, vendor int, cents int, moment timestamp) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO Purchase(CardID, VendorID, Amount, PurchaseDate) VALUES (card, vendor, cents, moment);
END
$$
//
CREATE PROCEDURE Hummer(
  seed bigint, process int, loops bigint,
  INOUT reads_done bigint, INOUT updates_done bigint, INOUT inserts_done bigint, INOUT digest text
) LANGUAGE plpgsql AS $$
DECLARE
  number bigint := 0;
  place bigint;
  waited bigint;
  is_stopped int;
  control HummerControl%ROWTYPE;
  cards int := (SELECT max(CardID) FROM Card);
  vendors int := (SELECT max(VendorID) FROM Vendor);
  moment timestamp;
BEGIN
  PERFORM setseed(((seed * 31 + process * 7919) % 1000003) / 1000003.0);
  WHILE number < loops LOOP
    SELECT * INTO control FROM HummerControl;
    EXIT WHEN control.stopped <> 0;
    place := number % 10;
    IF place < control.read_share THEN
      digest := CardRead(1 + floor(random() * cards)::int, digest);
      reads_done := reads_done + 1;
    ELSE
      moment := timestamp '2026-01-01' + floor(random() * 31000000)::int * interval '1 second';
      IF place < control.read_share + control.update_share THEN
        CALL VendorUpdate(1 + floor(random() * vendors)::int, 'PlainToRead-Card' || left(md5(random()::text), 24), moment);
        updates_done := updates_done + 1;
      ELSE
        CALL PurchaseInsert(
          1 + floor(random() * cards)::int, 1 + floor(random() * vendors)::int, floor(random() * 1000000)::int, moment);
        inserts_done := inserts_done + 1;
      END IF;
    END IF;
    COMMIT;
    number := number + 1;
    IF control.pause_every > 0 AND number % control.pause_every = 0 AND number < loops THEN
      waited := 0;
      is_stopped := 0;
      WHILE waited < control.pause_ms AND is_stopped = 0 LOOP
        PERFORM pg_sleep(least(control.pause_ms - waited, 50) / 1000.0);
        COMMIT;
        waited := waited + 50;
        SELECT stopped INTO is_stopped FROM HummerControl;
      END LOOP;
    END IF;
  END LOOP;
END
$$
